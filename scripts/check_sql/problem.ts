/** Something in an SQL file that must be mended before it lands. */
export interface Problem {
  /** The file, as a path from the repository's root. */
  file: string;
  /** The line in it, from 1. */
  line: number;
  /** What is wrong, and what to do. */
  message: string;
}
