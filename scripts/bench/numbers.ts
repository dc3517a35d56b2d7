/** The middle value; of an even number of values, the lower of the two. */
export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** The smallest value that `percent` of the values do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(sorted.length * percent / 100) - 1)] ?? NaN;
}

/** Prints rows as a table: the first column to the left, the others to the right. */
export function printTable(head: string[], rows: string[][]): void {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]) =>
    widths.map((width, column) => {
      const cell = row[column] ?? "";
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    }).join("  ");
  console.log(line(head));
  console.log(widths.map((width) => "-".repeat(width)).join("  "));
  for (const row of rows) console.log(line(row));
}

/** A whole number with thousands apart, or `-` if it is not known. */
export function whole(value: number): string {
  return Number.isNaN(value) ? "-" : Math.round(value).toLocaleString("en");
}

/**
 * A whole-number option such as `--rounds 5` or `--rounds=5`.
 *
 * @throws {Error} If its value is no positive whole number.
 */
export function numberOption(args: readonly string[], name: string, otherwise: number): number {
  const at = args.findIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  if (at === -1) return otherwise;
  const text = args[at]?.includes("=") ? args[at].slice(name.length + 3) : args[at + 1];
  if (text === undefined || !/^[1-9]\d{0,8}$/.test(text)) {
    throw new Error(`--${name} is "${text ?? ""}": give a whole number.`);
  }
  return Number(text);
}
