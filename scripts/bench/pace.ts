/** Starts are grouped to this many ms, as the runtime's claims are. */
const TICK_MS = 25;

/**
 * Starts work at a steady rate, whatever becomes of what was started before, and waits for all of it.
 *
 * @param start Begins one piece of work.
 */
export async function atRate(
  perSecond: number,
  seconds: number,
  start: (turn: number) => Promise<void>,
): Promise<void> {
  const total = perSecond * seconds;
  const startedAt = performance.now();
  const underWay: Promise<void>[] = [];
  while (underWay.length < total) {
    const due = Math.min(total, Math.ceil((performance.now() - startedAt) * perSecond / 1000));
    while (underWay.length < due) underWay.push(start(underWay.length));
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(underWay);
}
