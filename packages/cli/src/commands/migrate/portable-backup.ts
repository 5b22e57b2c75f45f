import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { messageOf } from '@plinth/kernel';
import { CommandFailed } from '@plinth/server/process/command-failed.js';
import protobuf from 'protobufjs/minimal.js';

/** A shard of a backup: a time range of a retention policy. */
export interface Shard {
  readonly database: string;
  readonly policy: string;
  readonly path: string;
}

export interface Policy {
  readonly name: string;
  /** 0 keeps data forever. */
  readonly durationNs: bigint;
  readonly shardDurationNs: bigint;
}

export interface Database {
  readonly name: string;
  readonly defaultPolicy: string;
  readonly policies: readonly Policy[];
  readonly continuousQueries: readonly { readonly name: string; readonly query: string }[];
}

export interface User {
  readonly name: string;
  readonly isAdmin: boolean;
  readonly grants: readonly {
    readonly database: string;
    readonly privilege: 'READ' | 'WRITE' | 'ALL';
  }[];
}

/** The files that `influxd backup -portable` of InfluxDB 1.5 to 1.12 writes to a folder. */
export interface PortableBackup {
  readonly databases: readonly Database[];
  readonly users: readonly User[];
  readonly shards: readonly Shard[];
}

const MAX_META_BYTES = 256 << 20;
const PRIVILEGES = [undefined, 'READ', 'WRITE', 'ALL'] as const;

/** Reads the manifest of a backup. If a folder contains several backups, uses the newest entry for each shard. */
export async function readBackup(folder: string): Promise<PortableBackup> {
  const names = (await readdir(folder))
    .filter((name) => name.endsWith('.manifest'))
    .sort()
    .reverse();
  const [newest] = names;
  if (newest === undefined) {
    throw new CommandFailed(
      `${folder}: no *.manifest file found; use a folder created by \`influxd backup -portable\``,
    );
  }
  const shards = new Map<string, Shard>();
  let metaFile = '';
  for (const name of names) {
    const { files, meta } = await readManifest(join(folder, name));
    metaFile ||= meta;
    for (const { database, policy, shardID, fileName } of files) {
      const key = JSON.stringify([database, policy, shardID]);
      if (!shards.has(key))
        shards.set(key, { database, policy, path: fileIn(folder, fileName, name) });
    }
  }
  return { ...(await readMeta(fileIn(folder, metaFile, newest))), shards: [...shards.values()] };
}

interface Manifest {
  readonly meta: string;
  readonly files: readonly {
    readonly database: string;
    readonly policy: string;
    readonly shardID: number;
    readonly fileName: string;
  }[];
}

async function readManifest(path: string): Promise<Manifest> {
  try {
    const { meta, files } = JSON.parse(await readFile(path, 'utf8')) as {
      meta: { fileName: string };
      files: Manifest['files'] | null;
    };
    return { meta: meta.fileName, files: files ?? [] };
  } catch (error) {
    throw new CommandFailed(`${path} is not a valid backup manifest: ${messageOf(error)}`);
  }
}

/** Throws for a file name that points outside its folder. */
function fileIn(folder: string, name: string, manifest: string): string {
  if (typeof name === 'string' && /^[\w.-]+$/.test(name) && !name.startsWith('.'))
    return join(folder, name);
  throw new CommandFailed(
    `${join(folder, manifest)}: ${JSON.stringify(name)} is not a valid file name in a backup`,
  );
}

/**
 * Reads databases, retention policies, continuous queries and users, in Protocol Buffers format. Source: `meta.proto`
 * of InfluxDB 1.x, messages Data, DatabaseInfo, RetentionPolicyInfo, ContinuousQueryInfo, UserInfo.
 */
async function readMeta(path: string): Promise<{ databases: Database[]; users: User[] }> {
  const { size } = await stat(path);
  if (size > MAX_META_BYTES)
    throw new CommandFailed(`${path} is larger than ${MAX_META_BYTES / 2 ** 20} MiB`);
  try {
    const data = message(bytesOf(message(await readFile(path)), 1)[0]);
    return {
      databases: bytesOf(data, 5)
        .map(message)
        .map((database) => ({
          name: textOf(database, 1),
          defaultPolicy: textOf(database, 2),
          policies: bytesOf(database, 3)
            .map(message)
            .map((policy) => ({
              name: textOf(policy, 1),
              durationNs: numberOf(policy, 2),
              shardDurationNs: numberOf(policy, 3),
            })),
          continuousQueries: bytesOf(database, 4)
            .map(message)
            .map((query) => ({
              name: textOf(query, 1),
              query: textOf(query, 2),
            })),
        })),
      users: bytesOf(data, 6)
        .map(message)
        .map((user) => ({
          name: textOf(user, 1),
          isAdmin: numberOf(user, 3) === 1n,
          grants: bytesOf(user, 4)
            .map(message)
            .flatMap((grant) => {
              const privilege = PRIVILEGES[Number(numberOf(grant, 2))];
              return privilege === undefined ? [] : { database: textOf(grant, 1), privilege };
            }),
        })),
    };
  } catch (error) {
    throw new CommandFailed(`${path} is not valid backup metadata: ${messageOf(error)}`);
  }
}

type Message = ReadonlyMap<number, readonly (bigint | Uint8Array)[]>;

/** Returns the values of a message by field number. */
function message(bytes: Uint8Array | undefined): Message {
  if (bytes === undefined) throw new RangeError('truncated message');
  const reader = protobuf.Reader.create(bytes);
  const values = new Map<number, (bigint | Uint8Array)[]>();
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    const list = values.get(tag >>> 3) ?? [];
    values.set(tag >>> 3, list);
    if ((tag & 7) === 0) list.push(BigInt(reader.int64().toString()));
    else if ((tag & 7) === 2) list.push(reader.bytes());
    else reader.skipType(tag & 7);
  }
  return values;
}

const bytesOf = (values: Message, field: number): Uint8Array[] =>
  (values.get(field) ?? []).filter((value): value is Uint8Array => typeof value !== 'bigint');

const textOf = (values: Message, field: number): string =>
  Buffer.from(bytesOf(values, field)[0] ?? []).toString();

function numberOf(values: Message, field: number): bigint {
  const value = values.get(field)?.[0];
  return typeof value === 'bigint' ? value : 0n;
}

/** Unpacks the files of a shard below `folder`. @returns its TSM files, oldest first. */
export async function unpackShard({ path }: Shard, folder: string): Promise<string[]> {
  const to = await mkdtemp(join(folder, 'shard-'));
  const { unpackTar } = await import('modern-tar/fs');
  try {
    await pipeline(
      createReadStream(path),
      createGunzip(),
      unpackTar(to, {
        fmode: 0o600,
        dmode: 0o700,
        filter: ({ name, type }) => type === 'file' && /\.(?:tsm|tombstone)$/.test(name),
      }),
    );
  } catch (error) {
    throw new CommandFailed(`${path} cannot be unpacked: ${messageOf(error)}`);
  }
  const files = await readdir(to, { recursive: true });
  return files
    .filter((name) => name.endsWith('.tsm'))
    .sort()
    .map((name) => join(to, name));
}
