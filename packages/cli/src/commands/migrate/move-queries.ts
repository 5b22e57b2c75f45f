import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandFailed, cannotWrite } from '@plinth/server/process/command-failed.js';
import { print, printNote } from '../output/terminal.js';
import { type QueryTrigger, triggerOf } from './continuous-query.js';
import type { OldNames } from './old-names.js';
import type { PortableBackup } from './portable-backup.js';

/** A continuous query of a backup, with its trigger if it can be converted. */
export interface PlannedQuery {
  readonly database: string;
  readonly name: string;
  readonly query: string;
  readonly trigger: QueryTrigger | undefined;
}

/**
 * Converts the continuous queries of a backup.
 * @param folder target folder of the plugins. Throws if it contains a different file of the same name.
 */
export async function planQueries(
  { databases }: PortableBackup,
  names: OldNames,
  folder: string | undefined,
): Promise<readonly PlannedQuery[]> {
  const taken = new Set<string>();
  const planned = databases.flatMap(({ name: database, continuousQueries }) =>
    continuousQueries.map(({ name, query }) => {
      const stem = `${database}_${name}`.replace(/[^A-Za-z0-9_]/g, '_');
      let fileName = `${stem}.py`;
      for (let i = 2; taken.has(fileName); i++) fileName = `${stem}_${i}.py`;
      taken.add(fileName);
      return { database, name, query, trigger: triggerOf({ name, query, fileName, names }) };
    }),
  );
  for (const { trigger } of planned) {
    if (folder === undefined || trigger === undefined) continue;
    const path = join(folder, trigger.fileName);
    const before = await contentOf(path);
    if (before === undefined || before === trigger.plugin) continue;
    throw new CommandFailed(
      `${path} already exists with different content; nothing was written\n  Move the file, or use another folder with --plugins.`,
    );
  }
  return planned;
}

/** Prints the steps for each query, and writes the plugins to the folder if one is given. */
export async function moveQueries(
  planned: readonly PlannedQuery[],
  { plugins, dryRun }: { readonly plugins?: string; readonly dryRun?: true },
): Promise<void> {
  for (const { database, name, query, trigger } of planned) {
    if (trigger === undefined) {
      printNote(`continuous query ${name} of ${database} must be converted by hand:\n  ${query}\n`);
      continue;
    }
    const { fileName, plugin, command } = trigger;
    print(
      `continuous query ${name} of ${database}: copy ${fileName} to the plugin folder, then run\n  ${command}\n`,
    );
    if (plugins === undefined) print(`${plugin}\n`);
    else if (!dryRun) await writePlugin(plugins, fileName, plugin);
  }
}

async function contentOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (Reflect.get(Object(error), 'code') === 'ENOENT') return undefined;
    throw cannotWrite(path, error);
  }
}

async function writePlugin(folder: string, fileName: string, plugin: string): Promise<void> {
  const path = join(folder, fileName);
  try {
    await mkdir(folder, { recursive: true });
    if ((await contentOf(path)) !== plugin) await writeFile(path, plugin, { flag: 'wx' });
  } catch (error) {
    throw error instanceof CommandFailed ? error : cannotWrite(path, error);
  }
}
