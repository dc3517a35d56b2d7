/** The embedded server cannot be started; the message is one sentence with the cure, and quotes the server if it spoke. */
export class EmbeddedServerError extends Error {
  override name = "EmbeddedServerError";
}

/** Another program runs on this data directory. Nothing was touched. */
export class AlreadyRunningError extends EmbeddedServerError {
  override name = "AlreadyRunningError";
}
