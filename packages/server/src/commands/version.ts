import { Command } from 'commander';
import { readProduct } from '../product-version.js';
import { print } from './output/terminal.js';

/** `plinth version`: what a report of a fault should name. */
export function versionCommand(): Command {
  return new Command('version')
    .description('version, commit and build of this program')
    .option('--json', 'as JSON')
    .action((options: { readonly json?: boolean }) => {
      const { version, commit, built } = readProduct();
      const { version: node, platform, arch } = process;
      if (options.json === true) {
        print(`${JSON.stringify({ version, commit, built, node, platform, arch })}\n`);
        return;
      }
      const from =
        commit === undefined ? 'run from a checkout' : `commit ${commit}, built ${built}`;
      print(`plinth ${version} (${from})\nNode ${node} on ${platform} ${arch}\n`);
    });
}
