import { open, rename, rm } from 'node:fs/promises';
import { cannotWrite } from './exit.js';

/** For its own user alone, as the data folder that it comes from. */
export const PRIVATE = 0o600;
/** What the umask leaves of it. */
export const SHARED = 0o666;

/** The file has its name only when all of it is there and `check` does not throw. */
export async function writeWhole(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  how: {
    readonly mode: number;
    check?(): void;
    onPiece?(sizeBytes: number): void;
  },
): Promise<void> {
  const { mode } = how;
  const part = `${path}.part`;
  const fail = (error: unknown): never => {
    throw cannotWrite(path, error);
  };
  const file = await open(part, 'w', mode).catch(fail);
  try {
    if (mode !== SHARED) await file.chmod(mode).catch(fail); // One that is left of another run has its own.
    for await (const piece of pieces) {
      await file.writeFile(piece).catch(fail);
      how.onPiece?.(piece.byteLength);
    }
    how.check?.();
    await file.sync().catch(fail);
    await file.close();
    await rename(part, path).catch(fail);
  } catch (error) {
    await file.close();
    await rm(part, { force: true });
    throw error;
  }
}
