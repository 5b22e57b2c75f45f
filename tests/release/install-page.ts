import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The pages with commands for the unit. */
const PAGES = ['INSTALL', 'BACKUP-DISK'].map((name) =>
  fileURLToPath(new URL(`../../../docs/${name}.md`, import.meta.url)),
);
const INSTALL = 0;
const BLOCK = /^```sh\n(.*?)^```$/gms;
const HERE_DOCUMENT = /^sudo tee (\S+) <<'END'\n(.*?)^END$/gms;

/** The commands of each page, block by block. */
const blocks = PAGES.map((page) =>
  [...readFileSync(page, 'utf8').matchAll(BLOCK)].map(([, commands = '']) => commands),
);
const installBlocks = blocks[INSTALL] ?? [];

/** Returns the only block that contains this text. */
export function installBlock(text: string): string {
  const found = installBlocks.filter((block) => block.includes(text));
  if (found.length !== 1) throw new Error(`INSTALL.md has ${found.length} blocks with ${text}`);
  return found[0] ?? '';
}

/** The drop-ins that the pages write: their text by file name. */
export const dropIns: ReadonlyMap<string, string> = new Map(
  blocks
    .flat()
    .flatMap((block) =>
      [...block.matchAll(HERE_DOCUMENT)].map(([, file = '', text = '']) => [
        file.slice(file.lastIndexOf('/') + 1),
        text,
      ]),
    ),
);
