/**
 * The release of this program, a whole number that grows by one with each release. The schema remembers the newest program
 * that applied its functions; an older program does not put its own functions over them.
 */
export const RELEASE = 1;

/** The oldest release that may run on the schema that this program makes. */
export const OLDEST_PROGRAM = 1;
