/** Clock ticks a second, in which /proc counts CPU: the same on every Linux. */
const TICKS_PER_SECOND = 100;

/** CPU that all threads of a process have taken since it started, in ms, to 10 ms. */
export function cpuMs(pid: number): number {
  const text = Deno.readTextFileSync(`/proc/${pid}/stat`);
  // Fields 14 and 15. The second, a name in brackets, may hold blanks.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 1000 / TICKS_PER_SECOND;
}

/** Memory of a process that is in RAM, in MB. */
export function residentMegabytes(pid: number): number {
  const text = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1]) / 1024;
}
