/** The schema cannot be brought to this program's release, or the program may not run on it. A sentence with the cure. */
export class MigrationError extends Error {
  override name = "MigrationError";
}
