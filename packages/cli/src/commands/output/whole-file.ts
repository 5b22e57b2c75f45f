import { open, rename, rm } from 'node:fs/promises';
import { cannotWrite } from '@plinth/server/process/command-failed.js';

/** Private to its user, like the data folder that it comes from. */
export const PRIVATE = 0o600;
/** The umask applies to this mode. */
export const SHARED = 0o666;

/** Writes a file under a temporary name, and renames it once it is complete and `check` has not thrown. */
export async function writeWhole(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  options: {
    readonly mode: number;
    check?(): void;
    onPiece?(sizeBytes: number): void;
  },
): Promise<void> {
  const { mode } = options;
  const part = `${path}.part`;
  const fail = (error: unknown): never => {
    throw cannotWrite(path, error);
  };
  const file = await open(part, 'w', mode).catch(fail);
  try {
    if (mode !== SHARED) await file.chmod(mode).catch(fail); // A file left by an earlier run keeps its mode.
    for await (const piece of pieces) {
      await file.writeFile(piece).catch(fail);
      options.onPiece?.(piece.byteLength);
    }
    options.check?.();
    await file.sync().catch(fail);
    await file.close();
    await rename(part, path).catch(fail);
  } catch (error) {
    await file.close();
    await rm(part, { force: true });
    throw error;
  }
}
