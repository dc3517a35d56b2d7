import type { ErrorCode } from "./observation.ts";

/** The target failed the probe. Ends in the observation's `error`. */
export class ProbeFailure extends Error {
  override readonly name = "ProbeFailure";

  constructor(readonly code: ErrorCode, message: string) {
    super(message);
  }
}

/** The runtime failed the probe: out of file descriptors, forbidden by its own permissions, asleep. Says nothing about the target. */
export class RuntimeFault extends Error {
  override readonly name = "RuntimeFault";
}

/** The runtime is stopping and gave the probe up. */
export class ProbeStopped extends Error {
  override readonly name = "ProbeStopped";
}

/** Errors of the machine that the probe runs on. */
const LOCAL_ERRORS = new Set(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "EPERM"]);

/** Reads the code that node and the system give to an error. */
export function errorCode(error: unknown): string {
  if (typeof error === "object" && error !== null && "code" in error && typeof error.code === "string") {
    return error.code;
  }
  return "";
}

/** The text of an error, for a person. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether an error is the runtime's own, so that no target may be blamed for it. */
export function isRuntimeError(error: unknown): boolean {
  return LOCAL_ERRORS.has(errorCode(error)) || (error instanceof Error && error.name === "NotCapable");
}
