// Source: docs/TROUBLESHOOTING.md, docs/TROUBLESHOOTING-START.md: users search the pages for the message that they see, so each message is
// one of the sources.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const PAGES = ['TROUBLESHOOTING', 'TROUBLESHOOTING-START'].map((name) =>
  fileURLToPath(new URL(`../../../../docs/${name}.md`, import.meta.url)),
);
const PACKAGES = fileURLToPath(new URL('../../../../packages/', import.meta.url));
/** Rows of a table, except for the table "Other symptoms". */
const ROW = /^\| (?:[\d or–]+ \| )?(`.*?) \|/gm;
/** System error codes, such as `EACCES`. */
const SYSTEM = /^E[A-Z]+$/;

/** The parts of messages between the names and numbers that the pages leave out. */
function* messages(): Generator<string> {
  const tables = PAGES.map((page) => readFileSync(page, 'utf8').split('## Other symptoms')[0]).join(
    '',
  );
  for (const [, cell = ''] of tables.matchAll(ROW)) {
    for (const [, message = ''] of cell.matchAll(/`([^`]+)`/g)) {
      if (!SYSTEM.test(message)) yield* message.split(/…|[;:] /).map((part) => part.trim());
    }
  }
}

function sources(): string {
  const files = readdirSync(PACKAGES, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /^[\w-]+\/src\/.*(?<!\.test)\.ts$/.test(file))
    .map((file) => readFileSync(PACKAGES + file, 'utf8'))
    .join('\n');
}

it('every message of the pages is in the sources', () => {
  const parts = [...messages()].filter((part) => /[a-z]{3}/i.test(part));
  assert.ok(parts.length > 40, `${parts.length} messages`);
  const text = sources();
  assert.deepEqual(
    parts.filter((part) => !text.includes(part)),
    [],
  );
});
