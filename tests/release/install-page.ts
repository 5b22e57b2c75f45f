import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('../../../docs/INSTALL.md', import.meta.url));
const BLOCK = /^```sh\n(.*?)^```$/gms;
const HERE_DOCUMENT = /^sudo tee (\S+) <<'END'\n(.*?)^END$/gms;

/** The commands of INSTALL.md, block by block. */
export const installBlocks: readonly string[] = [...readFileSync(PAGE, 'utf8').matchAll(BLOCK)].map(
  ([, commands = '']) => commands,
);

/** Returns the only block that contains this text. */
export function installBlock(text: string): string {
  const found = installBlocks.filter((block) => block.includes(text));
  if (found.length !== 1) throw new Error(`INSTALL.md has ${found.length} blocks with ${text}`);
  return found[0] ?? '';
}

/** The drop-ins that INSTALL.md writes: their text by file name. */
export const dropIns: ReadonlyMap<string, string> = new Map(
  installBlocks.flatMap((block) =>
    [...block.matchAll(HERE_DOCUMENT)].map(([, file = '', text = '']) => [
      file.slice(file.lastIndexOf('/') + 1),
      text,
    ]),
  ),
);
