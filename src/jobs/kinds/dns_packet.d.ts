/**
 * What is used of npm:dns-packet. The types that are published for it lack the response code, and bring in those of another version of node,
 * which then hold for this whole program.
 */
import type { Buffer } from "node:buffer";

/** The types of records that this program asks for. */
export type RecordType = "A" | "AAAA" | "CNAME" | "MX" | "NS" | "TXT" | "SOA" | "SRV" | "PTR" | "CAA";

/** A question, in a query and again in the answer to it. */
export interface Question {
  name: string;
  type: RecordType;
}

/** One record of an answer. */
export type Answer =
  & { name: string }
  & (
    | { type: "A" | "AAAA" | "CNAME" | "NS" | "PTR"; data: string }
    | { type: "MX"; data: { preference?: number; exchange: string } }
    | { type: "SRV"; data: { priority?: number; weight?: number; port: number; target: string } }
    | {
      type: "SOA";
      data: {
        mname: string;
        rname: string;
        serial: number;
        refresh: number;
        retry: number;
        expire: number;
        minimum: number;
      };
    }
    | { type: "CAA"; data: { flags?: number; tag: string; value: string } }
    | { type: "TXT"; data: string | Uint8Array | (string | Uint8Array)[] }
  );

/** The pseudo-record of EDNS. */
export interface Extension {
  type: "OPT";
  name: ".";
  udpPayloadSize: number;
  extendedRcode: number;
  ednsVersion: number;
  flags: number;
  options: never[];
}

/** A message to be encoded. */
export interface Packet {
  type: "query" | "response";
  id: number;
  flags?: number;
  questions?: Question[];
  answers?: Answer[];
  additionals?: Extension[];
}

/** A message as it was received. */
export interface DecodedPacket {
  type: "query" | "response";
  id: number;
  /** Such as `NOERROR` and `NXDOMAIN`. */
  rcode: string;
  /** Whether the server is the name's own. */
  flag_aa: boolean;
  /** Whether there is more than fitted in. */
  flag_tc: boolean;
  /** Whether the server asks others. */
  flag_ra: boolean;
  questions: Question[];
  answers: Answer[];
}

/** The bit that asks the server to ask others. */
export const RECURSION_DESIRED: number;
/** The bit of an answer that did not fit in. */
export const TRUNCATED_RESPONSE: number;

/** Writes a message. */
export function encode(packet: Packet): Buffer;
/** Reads a message; throws if it is none. */
export function decode(message: Buffer): DecodedPacket;
