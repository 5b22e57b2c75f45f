import { readProduct } from '@plinth/server/product-version.js';
import { Command } from 'commander';
import { printOne, withFormat } from './output/listing.js';

/** `plinth version`: details for a bug report. */
export function versionCommand(): Command {
  const command = withFormat(new Command('version'))
    .description('show version, commit and build of this program')
    .action(() => {
      const { version, commit, built } = readProduct();
      const { version: node, platform, arch } = process;
      const from =
        commit === undefined ? 'run from a checkout' : `commit ${commit}, built ${built}`;
      const known = { version, commit, built, node, platform, arch };
      const text = `plinth ${version} (${from})\nNode ${node} on ${platform} ${arch}\n`;
      printOne(command, known, () => text);
    });
  return command;
}
