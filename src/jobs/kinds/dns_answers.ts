import { Buffer } from "node:buffer";
// @ts-types="./dns_packet.d.ts"
import type { Answer, DecodedPacket } from "dns-packet";
import { type DnsQuestion, isSameName } from "./dns_exchange.ts";

/** More names than any honest chain of aliases has. */
const ALIASES_FOLLOWED = 16;
/** A name may have thousands of records; this many are reported, each cut to this many characters. */
const ANSWERS_REPORTED = 100;
const ANSWER_LENGTH = 1000;

/** The records of the type that was asked for, and what is odd about the answer. */
export interface DnsAnswers {
  /** In text form, sorted, since resolvers turn the order round. */
  answers: string[];
  warnings: string[];
}

/**
 * Takes the records that answer a question out of a resolver's answer: those of the name, and of the names that it is an alias of. Records
 * of other names, which nobody asked for, are left out.
 */
export function dnsAnswers(question: DnsQuestion, packet: DecodedPacket): DnsAnswers {
  const warnings: string[] = [];
  const records = packet.answers;
  const names = [question.name];
  if (question.type !== "CNAME") {
    for (;;) {
      const alias = records.find((record) => record.type === "CNAME" && isSameName(record.name, names.at(-1) ?? ""));
      if (alias === undefined || alias.type !== "CNAME") break;
      if (names.length > ALIASES_FOLLOWED || names.some((name) => isSameName(name, alias.data))) {
        warnings.push("cname_loop");
        break;
      }
      names.push(alias.data);
    }
  }
  const answers = records
    .filter((record) => record.type === question.type && names.some((name) => isSameName(name, record.name)))
    .map((record) => recordText(record).slice(0, ANSWER_LENGTH));
  // A server that is neither the name's own nor willing to ask others has sent on to somebody else.
  if (answers.length === 0 && packet.rcode === "NOERROR" && !packet.flag_aa && !packet.flag_ra) warnings.push("lame");
  if (answers.length > ANSWERS_REPORTED) warnings.push("answers_capped");
  return { answers: answers.sort().slice(0, ANSWERS_REPORTED), warnings };
}

/** A record as in a zone file, but without quotes and without the dot at the end of names. */
function recordText(record: Answer): string {
  switch (record.type) {
    case "A":
    case "AAAA":
    case "CNAME":
    case "NS":
    case "PTR":
      return record.data;
    case "MX":
      return `${record.data.preference ?? 0} ${record.data.exchange}`;
    case "SRV":
      return `${record.data.priority ?? 0} ${record.data.weight ?? 0} ${record.data.port} ${record.data.target}`;
    case "SOA": {
      const { mname, rname, serial, refresh, retry, expire, minimum } = record.data;
      return [mname, rname, serial, refresh, retry, expire, minimum].join(" ");
    }
    case "CAA":
      return `${record.data.flags ?? 0} ${record.data.tag} ${record.data.value}`;
    case "TXT":
      // One text may come in pieces of 255 bytes, and a character may be cut between them.
      return new TextDecoder().decode(Buffer.concat([record.data].flat().map((piece) => Buffer.from(piece))));
    default:
      return "";
  }
}
