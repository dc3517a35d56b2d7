/** Held by the one program that owns a data directory. The operating system gives it back when the program dies. */
export interface ProgramLock {
  release(): void;
}

/**
 * Takes the lock on a data directory, without waiting.
 *
 * @param file The lock file. It is created if absent and never removed: a file that vanishes under its holder locks nothing.
 * @returns The lock, or what the file says of the program that holds it: its process id, or null if that cannot be read.
 */
export function takeProgramLock(file: string): { lock: ProgramLock } | { heldBy: number | null } {
  const handle = Deno.openSync(file, { create: true, read: true, write: true });
  if (!handle.tryLockSync(true)) {
    const heldBy = readHolder(handle);
    handle.close();
    return { heldBy };
  }
  handle.truncateSync(0);
  handle.writeSync(new TextEncoder().encode(`${Deno.pid}\n`));
  return {
    lock: {
      release() {
        // Said so, since a child process that is just being started shares the file until it runs its own program.
        handle.unlockSync();
        handle.close();
      },
    },
  };
}

function readHolder(handle: Deno.FsFile): number | null {
  const buffer = new Uint8Array(16);
  try {
    const length = handle.readSync(buffer) ?? 0;
    const pid = Number.parseInt(new TextDecoder().decode(buffer.subarray(0, length)), 10);
    return Number.isInteger(pid) ? pid : null;
  } catch {
    return null; // Windows refuses to read what another process has locked.
  }
}
