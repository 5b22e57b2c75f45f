import { setTimeout as sleep } from 'node:timers/promises';
import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Command, Option } from 'commander';
import {
  type Connection,
  callOk,
  connectionOf,
  databaseOf,
  withConnection,
} from '../connection.js';
import { countOf } from '../output/count-of.js';
import { print } from '../output/terminal.js';
import { printReferences, type References, rename, withDryRun } from './rename.js';

const CONVERT = 'api/v3/configure/column/convert';
const KINDS = ['float64', 'int64', 'uint64', 'utf8', 'bool', 'tag'];
const POLL_MS = 500;

interface Conversion {
  readonly id: number;
  readonly db: string;
  readonly table: string;
  readonly column: string;
  readonly from: string;
  readonly to: string;
  readonly state: string;
  readonly row_count: number;
  readonly copied_count: number;
  readonly error: string | null;
}

interface Counts extends References {
  readonly row_count: number;
  readonly value_count: number;
  readonly impossible_values: number;
  readonly inexact_values: number;
  readonly rows_without_field: number;
  readonly merged_points: number;
}

export function columnCommand(): Command {
  return new Command('column')
    .description('rename tags and fields, and convert their types')
    .addCommand(renameColumn())
    .addCommand(convert())
    .addCommand(conversions())
    .addCommand(cancel())
    .addHelpText(
      'after',
      '\nExamples:\n  plinth column rename -d home readings temp temperature --dry-run\n  plinth column convert -d home readings count --to float64',
    );
}

function renameColumn(): Command {
  const command = withDryRun(
    named('rename', 'rename a tag or field without rewriting files').argument('<new-name>'),
  );
  return command.action(async (table: string, column: string, newName: string) => {
    const json = { table, column, new_name: newName };
    await rename(command, 'api/v3/configure/column/rename', json, `column ${column}`);
  });
}

function convert(): Command {
  const command = withDryRun(
    named('convert', 'convert a field to another type, a tag to a field, or a field to a tag')
      .addOption(new Option('--to <type>', 'new type').choices(KINDS).makeOptionMandatory())
      .option('--no-wait', 'return when the conversion has started'),
    'count the effects without changing anything',
  );
  return command.action(async (table: string, column: string) => {
    const {
      to,
      dryRun = false,
      wait,
    } = command.opts<{ to: string; dryRun?: boolean; wait: boolean }>();
    const connection = connectionOf(command.opts());
    const json = { db: databaseOf(connection), table, column, to, dry_run: dryRun };
    const response = await callOk(connection, CONVERT, { json });
    if (dryRun) {
      printCounts((await response.json()) as Counts); // the server's response
      return;
    }
    const { id } = (await response.json()) as Conversion; // the server's response
    print(`conversion ${id} started\n`);
    if (wait) await whenEnded(connection, id);
  });
}

function conversions(): Command {
  const command = withConnection(new Command('conversions'), { database: false }).description(
    'list running and recent conversions',
  );
  return command.action(async () => {
    for (const each of await listed(connectionOf(command.opts()))) {
      const { id, db, table, column, from, to, error } = each;
      print(`${id} ${db}.${table}.${column} ${from} to ${to}: ${stateOf(each)}\n`);
      if (error !== null) print(`  ${error}\n`);
    }
  });
}

function cancel(): Command {
  const command = withConnection(new Command('cancel'), { database: false })
    .description('cancel a running conversion without changing any data')
    .argument('<id>');
  return command.action(async (id: string) => {
    const connection = connectionOf(command.opts());
    await callOk(connection, CONVERT, { method: 'DELETE', query: { id } });
    print(`conversion ${id} canceled\n`);
  });
}

async function whenEnded(connection: Connection, id: number): Promise<void> {
  for (;;) {
    const found = (await listed(connection)).find((each) => each.id === id);
    if (found === undefined)
      throw new CommandFailed(
        'the server was restarted during the conversion; start the conversion again',
        EXIT.failed,
      );
    if (found.state !== 'running') {
      print(`conversion ${id}: ${stateOf(found)}\n`);
      if (found.state === 'completed') return;
      throw new CommandFailed(found.error ?? 'the conversion was canceled', EXIT.failed);
    }
    await sleep(POLL_MS);
  }
}

async function listed(connection: Connection): Promise<readonly Conversion[]> {
  const response = await callOk(connection, CONVERT, {});
  return ((await response.json()) as { conversions: Conversion[] }).conversions; // the server's response
}

function stateOf({ state, row_count, copied_count }: Conversion): string {
  const share = Math.min(100, Math.floor((100 * copied_count) / Math.max(1, row_count)));
  return state === 'running' ? `running, ${share} %` : state;
}

function printCounts(counts: Counts): void {
  const { row_count, value_count, impossible_values, inexact_values } = counts;
  print(`${countOf(value_count, 'value')} in ${countOf(row_count, 'row')} would be converted\n`);
  if (impossible_values > 0) print(`${countOf(impossible_values, 'value')} cannot be converted\n`);
  if (inexact_values > 0) print(`${countOf(inexact_values, 'value')} would lose digits\n`);
  if (counts.rows_without_field > 0)
    print(`${countOf(counts.rows_without_field, 'row')} would have no field\n`);
  if (counts.merged_points > 0)
    print(`${countOf(counts.merged_points, 'point')} would be merged with other points\n`);
  printReferences(counts, true);
}

function named(name: string, description: string): Command {
  return withConnection(new Command(name), { database: true })
    .description(description)
    .argument('<table>')
    .argument('<column>');
}
