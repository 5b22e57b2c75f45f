import { Command } from 'commander';
import { withConnection } from '../connection.js';
import { rename, withDryRun } from './rename.js';

/** `plinth column`. */
export function columnCommand(): Command {
  return new Command('column')
    .description('rename tags and fields')
    .addCommand(renameColumn())
    .addHelpText(
      'after',
      '\nExamples:\n  plinth column rename -d home readings temp temperature --dry-run\n  plinth column rename -d home readings temp temperature',
    );
}

function renameColumn(): Command {
  const command = withDryRun(
    withConnection(new Command('rename'), { database: true })
      .description('rename a tag or field without a change of its files')
      .argument('<table>')
      .argument('<column>')
      .argument('<new-name>'),
  );
  return command.action(async (table: string, column: string, newName: string) => {
    const json = { table, column, new_name: newName };
    await rename(command, 'api/v3/configure/column/rename', json, `column ${column}`);
  });
}
