import type { Command } from 'commander';
import { callOk, connectionOf, databaseOf } from '../connection.js';
import { print } from '../output/terminal.js';

interface Reference {
  readonly kind: string;
  readonly name: string;
}

export interface References {
  readonly follows: readonly Reference[];
  readonly needs_change: readonly Reference[];
}

export const withDryRun = (
  command: Command,
  description = 'list references to the name without changing anything',
): Command => command.option('--dry-run', description);

/** Calls a rename route and prints the references. @param what the object, for the output. */
export async function rename(
  command: Command,
  path: string,
  names: { readonly table: string; readonly new_name: string; readonly column?: string },
  what: string,
): Promise<void> {
  const { dryRun = false } = command.opts<{ dryRun?: boolean }>();
  const connection = connectionOf(command.opts());
  const json = { db: databaseOf(connection), ...names, dry_run: dryRun };
  const response = await callOk(connection, path, { json });
  const references = (await response.json()) as References; // the server's response
  print(`${what} ${dryRun ? 'would be' : 'was'} renamed to ${names.new_name}\n`);
  printReferences(references, dryRun);
}

export function printReferences({ follows, needs_change }: References, isDryRun: boolean): void {
  printList(isDryRun ? 'would be updated automatically' : 'updated automatically', follows);
  printList('must be changed manually', needs_change);
}

function printList(what: string, references: readonly Reference[]): void {
  if (references.length === 0) return;
  print(`${what}:\n`);
  for (const { kind, name } of references) print(`  ${kind.replaceAll('_', ' ')} ${name}\n`);
}
