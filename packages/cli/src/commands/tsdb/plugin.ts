import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Command } from 'commander';
import { callOk, connectionOf, databaseOf, withConnection } from '../connection.js';
import { isLineProtocol } from '../input/line-text.js';
import { printQuery, withQueryFormat } from '../output/listing.js';
import { print } from '../output/terminal.js';
import { readArguments } from './trigger.js';

export function pluginCommand(): Command {
  return new Command('plugin')
    .description('create, test, upload and list Python plugins')
    .addCommand(begin())
    .addCommand(tryOut())
    .addCommand(upload())
    .addCommand(list())
    .addHelpText(
      'after',
      '\nExamples:\n  plinth plugin new alerts\n  plinth plugin upload alerts.py\n  plinth plugin test alerts.py -d home --lp sample.lp --args threshold=30',
    );
}

const TEMPLATE = `"""NAME: one sentence about the plugin.

Arguments: field (field to check), limit (a number).
"""


def process_writes(influxdb3_local, table_batches, args=None):
    """Called with the rows of every write: [{"table_name": ..., "rows": [{column: value, ...}]}]."""
    args = args or {}
    field, limit = args.get("field", "value"), float(args.get("limit", "100"))
    for batch in table_batches:
        # The plugin is also called for rows that it writes.
        if batch["table_name"] == "NAME_found":
            continue
        found = [row for row in batch["rows"] if row.get(field) is not None and row[field] > limit]
        for row in found:
            line = LineBuilder("NAME_found").tag("table", batch["table_name"])
            influxdb3_local.write(line.float64_field("value", row[field]).time_ns(row["time"]))
        influxdb3_local.info(f"{batch['table_name']}: {len(found)} of {len(batch['rows'])} rows above {limit}")
`;

const TEST_TEMPLATE = `"""python3 -m unittest test_NAME: tests the plugin with a mock API."""

import builtins
import unittest


class Line:
    def __init__(self, measurement):
        self.measurement, self.tags, self.fields, self.time = measurement, {}, {}, None

    def tag(self, key, value):
        self.tags[key] = value
        return self

    def float64_field(self, key, value):
        self.fields[key] = value
        return self

    def time_ns(self, time):
        self.time = time
        return self


class Notes:
    def __init__(self):
        self.lines, self.messages = [], []

    def write(self, line):
        self.lines.append(line)

    def info(self, *args):
        self.messages.append(" ".join(str(arg) for arg in args))


builtins.LineBuilder = Line  # a builtin on the server
from NAME import process_writes  # noqa: E402


class NAMETest(unittest.TestCase):
    def test_finds_rows_above_the_limit(self):
        notes = Notes()
        rows = [{"value": 5.0, "time": 1}, {"value": 15.0, "time": 2}, {"other": 1.0, "time": 3}]
        process_writes(notes, [{"table_name": "t", "rows": rows}], {"limit": "10"})
        self.assertEqual([(line.time, line.fields) for line in notes.lines], [(2, {"value": 15.0})])


if __name__ == "__main__":
    unittest.main()
`;

function begin(): Command {
  return new Command('new')
    .description('create a plugin template with a test')
    .argument('<name>', 'plugin name: letters, digits and underscores')
    .option('--dir <folder>', 'output folder', '.')
    .action((name: string, options: { readonly dir: string }) => {
      if (!/^[A-Za-z_]\w*$/.test(name)) {
        throw new CommandFailed(
          `invalid plugin name "${name}"; use letters, digits and underscores, without a leading digit`,
          EXIT.usage,
        );
      }
      mkdirSync(options.dir, { recursive: true });
      const files = [
        [join(options.dir, `${name}.py`), TEMPLATE],
        [join(options.dir, `test_${name}.py`), TEST_TEMPLATE],
      ] as const;
      const taken = files.find(([path]) => existsSync(path));
      if (taken !== undefined)
        throw new CommandFailed(
          `${taken[0]} already exists; remove it or use another name`,
          EXIT.failed,
        );
      for (const [path, text] of files) {
        writeFileSync(path, text.replaceAll('NAME', name));
        print(`${path}\n`);
      }
    });
}

function list(): Command {
  const command = withQueryFormat(withConnection(new Command('list'), { database: false }));
  return command
    .description('list plugin files used by triggers')
    .action(() => printQuery(command, { db: '_internal', q: 'SELECT * FROM system.plugin_files' }));
}

interface TestOptions {
  readonly lp?: string;
  readonly schedule?: string;
  readonly args?: string;
  readonly cache?: string;
}

interface Report {
  readonly trigger_time?: string | null;
  readonly log_lines: readonly string[];
  readonly database_writes: Readonly<Record<string, readonly string[]>>;
  readonly errors: readonly string[];
}

function tryOut(): Command {
  const command = withConnection(new Command('test'), { database: true })
    .description('test a plugin without storing its writes')
    .argument('<file>', 'plugin file or folder in the plugin folder')
    .option(
      '--lp <file>',
      'line protocol for process_writes: a file, the text, or - for standard input',
    )
    .option('--schedule <cron>', 'call process_scheduled_call with the next time of this schedule')
    .option('--args <list>', 'arguments of the plugin: key=value,key=value')
    .option('--cache <name>', 'name of a cache shared between tests');
  return command.action(async (file: string) => {
    const { lp, schedule, args, cache } = command.opts<TestOptions>();
    const connection = connectionOf(command.opts());
    const json = {
      filename: file,
      database: databaseOf(connection),
      cache_name: cache,
      input_arguments: args === undefined ? undefined : readArguments(args),
    };
    const response =
      lp === undefined
        ? await callOk(connection, 'api/v3/plugin_test/schedule', { json: { ...json, schedule } })
        : await callOk(connection, 'api/v3/plugin_test/wal', {
            json: {
              ...json,
              input_lp: isLineProtocol(lp) ? lp : readFileSync(lp === '-' ? 0 : lp, 'utf8'),
            },
          });
    const report = (await response.json()) as Report;
    print(describe(report));
    if (report.errors.length > 0) {
      throw new CommandFailed(report.errors.join('\n'), EXIT.failed);
    }
  });
}

function describe(report: Report): string {
  const lines = [
    ...(report.trigger_time ? [`trigger time: ${report.trigger_time}`] : []),
    ...report.log_lines,
  ];
  for (const [database, written] of Object.entries(report.database_writes)) {
    lines.push(`would write to ${database}:`, ...written.map((line) => `  ${line}`));
  }
  return `${lines.join('\n')}\n`;
}

function upload(): Command {
  const command = withConnection(new Command('upload'), { database: false })
    .description('upload a plugin file or folder to the server')
    .argument('<path>', 'local file or folder')
    .option('--as <name>', 'plugin name on the server (default: local name)');
  return command.action(async (path: string) => {
    const name = (command.opts()['as'] as string | undefined) ?? basename(path);
    const connection = connectionOf(command.opts());
    for (const [plugin_name, content] of filesOf(path, name)) {
      await callOk(connection, 'api/v3/plugins/files', { json: { plugin_name, content } });
      print(`${plugin_name}\n`);
    }
  });
}

function filesOf(path: string, name: string): (readonly [name: string, content: string])[] {
  if (!existsSync(path)) throw new CommandFailed(`${path} does not exist`, EXIT.failed);
  if (!statSync(path).isDirectory()) return [[name, readFileSync(path, 'utf8')]];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('__pycache__'))
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return [join(name, relative(path, file)), readFileSync(file, 'utf8')] as const;
    });
}
