import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { escapedKey, floatText, quotedText } from '@plinth/line-protocol';
import type { DumpChunk } from '../input/dump.js';
import { quoted } from '../input/line-text.js';
import { Faults } from './faults.js';
import { OldNames } from './old-names.js';
import { type Database, type PortableBackup, readBackup, unpackShard } from './portable-backup.js';
import type { Piece, Source } from './run-migration.js';
import type { TsmBlock } from './tsm-blocks.js';
import { type TsmField, TsmFile } from './tsm-file.js';

const CHUNK_BYTES = 4 << 20;

export interface BackupSource extends Source {
  readonly backup: PortableBackup;
  readonly names: OldNames;
  close(): Promise<void>;
}

/** Opens a portable backup. Its shards are unpacked below `temp`, which must have space for all of them. */
export async function portableSource(
  folder: string,
  temp: string = tmpdir(),
): Promise<BackupSource> {
  const names = new OldNames();
  const backup = named(await readBackup(folder), names);
  const place = await mkdtemp(join(temp, 'plinth-migrate-'));
  const close = () => rm(place, { recursive: true, force: true });
  const faults = new Faults();
  try {
    const pieces: Piece[] = [];
    for (const shard of backup.shards) {
      const to = names.place(shard.database, shard.policy);
      if (to === undefined) continue;
      const files = await unpackShard(shard, place).catch(faults.taking([]));
      for (const path of files) {
        pieces.push({
          name: `${basename(shard.path)}/${basename(path)}`,
          chunks: () => chunksOf(path, to, faults),
        });
      }
    }
    return {
      backup,
      names,
      notes: () => names.notes,
      identity: await identityOf(folder),
      progressPath: join(dirname(resolve(folder)), `${basename(resolve(folder))}.plinth-migration`),
      statements: backup.databases.flatMap(statementsOf),
      pieces,
      faults,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns the objects to create from a backup, under their names on this server. */
function named(backup: PortableBackup, names: OldNames): PortableBackup {
  // Names that need no change are assigned first.
  for (const { name, policies } of plainFirst(backup.databases))
    for (const policy of plainFirst(policies)) names.place(name, policy.name);
  return {
    databases: backup.databases.flatMap((database) => {
      const { name, defaultPolicy, policies } = database;
      const here = names.database(name);
      if (here === undefined) return [];
      const policyHere = (policy: string) => names.policy(name, policy) ?? 'autogen';
      return {
        ...database,
        name: here,
        defaultPolicy: policyHere(defaultPolicy),
        policies: policies.map((policy) => ({ ...policy, name: policyHere(policy.name) })),
      };
    }),
    users: backup.users.map((user) => ({
      ...user,
      grants: user.grants.flatMap((grant) => {
        const database = names.database(grant.database);
        return database === undefined ? [] : { ...grant, database };
      }),
    })),
    shards: backup.shards,
  };
}

const plainFirst = <T extends { readonly name: string }>(items: readonly T[]): T[] => {
  const isPlain = ({ name }: T): boolean => /^[A-Za-z0-9_-]+$/.test(name);
  return [...items.filter(isPlain), ...items.filter((item) => !isPlain(item))];
};

/** Returns a fingerprint that shows whether the files of a folder have changed. */
async function identityOf(folder: string): Promise<string> {
  const parts: string[] = [resolve(folder)];
  for (const name of (await readdir(folder)).sort()) {
    const { size, mtimeMs } = await stat(join(folder, name));
    parts.push(`${name} ${size} ${mtimeMs}`);
  }
  return parts.join('\n');
}

function statementsOf({ name, defaultPolicy, policies }: Database): string[] {
  const statements = [`CREATE DATABASE ${quoted(name)}`];
  for (const { name: policy, durationNs, shardDurationNs } of policies) {
    const isDefault = policy === defaultPolicy ? ' DEFAULT' : '';
    const duration = durationNs === 0n ? 'INF' : `${durationNs / 1_000_000_000n}s`;
    if (policy === 'autogen') {
      if (durationNs !== 0n || isDefault === '')
        statements.push(
          `ALTER RETENTION POLICY "autogen" ON ${quoted(name)} DURATION ${duration}${isDefault}`,
        );
      continue;
    }
    statements.push(
      `CREATE RETENTION POLICY ${quoted(policy)} ON ${quoted(name)} DURATION ${duration} REPLICATION 1 ` +
        `SHARD DURATION ${shardDurationNs / 1_000_000_000n}s${isDefault}`,
    );
  }
  return statements;
}

/** Yields the points of a file, series by series. Fields with the same series and time share a line. */
async function* chunksOf(
  path: string,
  database: string,
  faults: Faults,
): AsyncGenerator<DumpChunk> {
  const file = await TsmFile.open(path).catch(faults.taking(undefined));
  if (file === undefined) return;
  let lines: string[] = [];
  let size = 0;
  const flush = (): DumpChunk => {
    const chunk = {
      bytes: Buffer.from(lines.join('')),
      pointCount: lines.length,
      fileLineOf: (n: number) => n,
      database,
    };
    lines = [];
    size = 0;
    return chunk;
  };
  try {
    for (const fields of bySeries(file.fields)) {
      for await (const line of linesOf(file, fields, faults)) {
        lines.push(line);
        size += line.length;
        if (size >= CHUNK_BYTES) yield flush();
      }
    }
    if (lines.length > 0) yield flush();
  } finally {
    await file.close();
  }
}

function* bySeries(fields: readonly TsmField[]): Generator<readonly TsmField[]> {
  let from = 0;
  for (let i = 1; i <= fields.length; i++) {
    if (i < fields.length && fields[i]?.series === fields[from]?.series) continue;
    yield fields.slice(from, i);
    from = i;
  }
}

/** A field whose blocks are read one at a time. */
interface Reading {
  readonly key: string;
  readonly type: TsmField['type'];
  readonly blocks: AsyncIterator<TsmBlock>;
  block: TsmBlock | undefined;
  at: number;
}

async function* linesOf(
  file: TsmFile,
  fields: readonly TsmField[],
  faults: Faults,
): AsyncGenerator<string> {
  const advance = async (reading: Reading): Promise<void> => {
    reading.at += 1;
    while (reading.block !== undefined && reading.at >= reading.block.times.length) {
      const next = await reading.blocks.next().catch(faults.taking(undefined));
      reading.block = next?.done === false ? next.value : undefined;
      reading.at = 0;
    }
  };
  const readings: Reading[] = fields.map((field) => ({
    key: escapedKey(field.field),
    type: field.type,
    blocks: file.blocks(field),
    block: { times: new BigInt64Array(0), values: [] },
    at: -1,
  }));
  for (const reading of readings) await advance(reading);
  const series = fields[0]?.series ?? '';
  for (;;) {
    let time: bigint | undefined;
    for (const { block, at } of readings) {
      const candidate = block?.times[at];
      if (candidate !== undefined && (time === undefined || candidate < time)) time = candidate;
    }
    if (time === undefined) return;
    const values: string[] = [];
    for (const reading of readings) {
      const { block, at, key, type } = reading;
      if (block?.times[at] !== time) continue;
      const value = block.values[at];
      values.push(`${key}=${valueText(value, type)}`);
      if (at + 1 < block.times.length) reading.at = at + 1;
      else await advance(reading);
    }
    yield `${series} ${values.join(',')} ${time}\n`;
  }
}

function valueText(
  value: number | bigint | boolean | string | undefined,
  type: TsmField['type'],
): string {
  if (typeof value === 'string') return quotedText(value);
  if (type === 'integer') return `${value}i`;
  if (type === 'unsigned') return `${value}u`;
  return typeof value === 'number' ? floatText(value) : String(value);
}
