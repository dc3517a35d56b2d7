/** Clock ticks a second, in which /proc counts CPU: the same on every Linux. */
const TICKS_PER_SECOND = 100;

/** What the system counts of a process. */
export interface ProcessStat {
  /** The process that started it. */
  parent: number;
  /** CPU that all its threads have taken since it started, in ms, to 10 ms. */
  ownCpuMs: number;
  /** That of the children that have ended and that it has waited for. */
  endedChildrenCpuMs: number;
}

/** Fields 4 and 14 to 17 of /proc/<pid>/stat; the second, a name in brackets, may hold blanks. Throws if it has ended. */
export function processStat(pid: number): ProcessStat {
  const text = Deno.readTextFileSync(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ").map(Number);
  const [parent = 0, user = 0, system = 0, childUser = 0, childSystem = 0] = [1, 11, 12, 13, 14].map((index) =>
    fields[index]
  );
  const ms = (ticks: number) => ticks * 1000 / TICKS_PER_SECOND;
  return { parent, ownCpuMs: ms(user + system), endedChildrenCpuMs: ms(childUser + childSystem) };
}

/** CPU that all threads of a process have taken since it started, in ms, to 10 ms. */
export function cpuMs(pid: number): number {
  return processStat(pid).ownCpuMs;
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
