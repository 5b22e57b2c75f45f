import { CommandFailed } from '@plinth/server/process/command-failed.js';
import { Command } from 'commander';
import { callOk, connectionOf, databaseOf, withConnection } from '../connection.js';
import { printRows, withFormat } from '../output/listing.js';

const PATH = 'ops/v1/tsdb/open-tables';
const COLUMNS = ['table', 'namespace', 'state', 'version', 'row_count', 'fresh_through', 'reason'];

/** Fields that these commands use. */
interface PublishedTable extends Readonly<Record<string, unknown>> {
  readonly db: string;
  readonly table: string;
  readonly state: string;
  readonly reason: string | null;
}

export function publishCommand(): Command {
  const command = withFormat(withConnection(new Command('publish'), { database: true }))
    .description('publish tables for Iceberg readers now')
    .argument('[table]', 'table to publish (default: all tables of the database)');
  return command.action(async (table: string | undefined) => {
    const connection = connectionOf(command.opts());
    const json = { db: databaseOf(connection), ...(table !== undefined && { table }) };
    const tables = await readTables(callOk(connection, `${PATH}/publish`, { json }));
    printRows(command, tables, COLUMNS);
    const failed = tables.find(({ state }) => state !== 'published' && state !== 'empty');
    if (failed !== undefined)
      throw new CommandFailed(
        `table ${failed.db}.${failed.table} is not published: ${failed.reason ?? failed.state}`,
      );
  });
}

export function publishedCommand(): Command {
  const command = withFormat(withConnection(new Command('published'), { database: true }));
  return command.description('list published tables and their newest versions').action(async () => {
    const connection = connectionOf(command.opts());
    const query = { db: databaseOf(connection) };
    const tables = await readTables(callOk(connection, PATH, { query }));
    printRows(command, tables, COLUMNS);
  });
}

async function readTables(response: Promise<Response>): Promise<readonly PublishedTable[]> {
  const { tables } = (await (await response).json()) as { tables: readonly PublishedTable[] }; // see docs/api/operator.json
  return tables;
}
