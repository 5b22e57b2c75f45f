// Source: docs/RELEASING.md, "Reproducible files".
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const PACK = fileURLToPath(new URL('../../../scripts/release/pack.mjs', import.meta.url));

it('a package has the same bytes whatever rights the umask gave to its files', async () => {
  const root = await mkdtemp(join(tmpdir(), 'plinth-pack-'));
  try {
    const packed: Buffer[] = [];
    for (const others of [0o044, 0]) {
      const [folder, out] = [join(root, `in-${others}`), join(root, `out-${others}`)];
      await mkdir(join(folder, 'bin'), { recursive: true });
      await writeFile(join(folder, 'package.json'), '{"name":"x","version":"1.0.0"}');
      await writeFile(join(folder, 'bin', 'run'), 'true');
      await chmod(join(folder, 'package.json'), 0o600 | others);
      await chmod(join(folder, 'bin', 'run'), 0o700 | others);
      const script = `const { pack } = await import(${JSON.stringify(PACK)}); console.log(pack(${JSON.stringify(folder)}, ${JSON.stringify(out)}).file)`;
      const args = ['--input-type=module', '-e', script];
      const file = execFileSync(process.execPath, args, { encoding: 'utf8' }).trim();
      packed.push(await readFile(file));
    }
    assert.deepEqual(packed[0], packed[1]);
  } finally {
    await rm(root, { recursive: true });
  }
});
