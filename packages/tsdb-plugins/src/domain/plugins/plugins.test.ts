// Source: spec/processing-engine.md, "Test endpoints" and "Security".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NodeFileSystem, SystemClock, SystemRandom } from '@plinth/kernel';
import { temporaryFolder } from '@plinth/kernel/testing';
import { PluginFolder } from '../../storage/plugins/plugin-folder.js';
import { Plugins } from './plugins.js';

const open = async (isFolderLocked: boolean): Promise<Plugins> =>
  new Plugins({
    folder: new PluginFolder({
      root: await temporaryFolder(),
      files: new NodeFileSystem(),
      random: new SystemRandom(new SystemClock()),
    }),
    repository: undefined,
    isFolderLocked,
    openHost: async () => ({ kind: 'unavailable', why: 'no Python' }),
  });

it('runs code of a request only where plugins can be uploaded', async () => {
  const code = (await open(false)).codeOfText('x = 1');
  assert.deepEqual(code, { kind: 'source', source: Buffer.from('x = 1') });
  const locked = await open(true);
  assert.throws(() => locked.codeOfText('x = 1'), { kind: 'plugin_folder_locked' });
});
