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

/** For how long some process of the machine has waited for a core since the machine started, in ms; NaN if the system does not say. */
export function waitedForCpuMs(): number {
  try {
    return Number(/^some .*total=(\d+)$/m.exec(Deno.readTextFileSync("/proc/pressure/cpu"))?.[1]) / 1000;
  } catch {
    return NaN;
  }
}
