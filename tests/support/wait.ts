/**
 * Asks again and again until the answer is yes, and gives it back.
 *
 * @param what Completes the sentence "waited in vain until ...".
 * @param ask What is true (or an object) when the time has come.
 * @throws If it has not come within the time, in ms.
 */
export async function until<Answer>(
  what: string,
  ask: () => Promise<Answer | false | null | undefined> | Answer | false | null | undefined,
  timeoutMs = 20_000,
): Promise<Answer> {
  const giveUpAt = Date.now() + timeoutMs;
  while (true) {
    const answer = await ask();
    if (answer !== false && answer !== null && answer !== undefined) return answer;
    if (Date.now() > giveUpAt) throw new Error(`waited in vain for ${timeoutMs} ms until ${what}`);
    await new Promise((done) => setTimeout(done, 10));
  }
}
