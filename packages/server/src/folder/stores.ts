import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import {
  type Clock,
  type CommitLog,
  type EmbeddedStore,
  type FileSystem,
  type FolderObjectStore,
  type FreeDiskSpace,
  type Leases,
  LocalLeases,
  LocalObjectStore,
  type LogCheckpointStore,
  type Logger,
  type LogLoss,
  openCommitLog,
  openPostgresStore,
  openRelationalStore,
  type Random,
  type RelationalStore,
  SecretBox,
  type SharedStore,
} from '@plinth/kernel';
import { LOST_CHANGES_HINT } from '../process/hints.js';
import type { ServerSettings } from '../settings.js';
import type { DataFolder } from './data-folder.js';
import { STORE_FILE } from './file-names.js';
import { readFolderId } from './folder-id.js';
import { originOfMasterKey, readGivenMasterKey, readOwnMasterKey } from './master-key.js';

/** The stores in which services keep their state. */
export interface Stores {
  readonly files: FileSystem;
  /** Absolute; exists. */
  readonly dataDir: string;
  /** Local to this node, or shared with others. */
  readonly relational: RelationalStore;
  /** The store in the data folder, for data about local files. */
  readonly local: EmbeddedStore;
  /** The shared store; `undefined` if the store is local. */
  readonly shared: SharedStore | undefined;
  /** Name of the data folder among nodes that share a store. */
  readonly folderId: string;
  /** Located below `dataDir`. */
  readonly objects: FolderObjectStore;
  readonly leases: Leases;
  /** Encrypts stored secrets that must be decrypted again, such as signing secrets. */
  readonly secrets: SecretBox;
  /** On the disk of `dataDir`. */
  readonly diskSpace: FreeDiskSpace;
  /** Opens the log in `folder`. The caller closes it. */
  openLog(options: {
    readonly folder: string;
    readonly nodeUuid: string;
    readonly retained: { readonly folder: string; readonly maxBytes: number };
    readonly repair: boolean;
    readonly firstFile: number;
    readonly logCheckpoint: LogCheckpointStore;
    readonly writtenMs: (payload: Uint8Array) => number | undefined;
    readonly describe: (payload: Uint8Array) => string | undefined;
  }): Promise<CommitLog>;
  /** Rejects if the folder or the database cannot be read. Resolves with the reason if a shared database refuses writes. */
  probe(): Promise<Error | undefined>;
  close(): Promise<void>;
}

function messageOfLoss({ kind, lostRecordCount, offset }: LogLoss): string {
  if (kind === 'missing' && offset === 0)
    return lostRecordCount === undefined
      ? 'this log file is missing; its records, and those of later missing files, are lost'
      : 'log records before this file are missing; rows that were written to segments may be in objects/tsdb-unknown';
  if (kind === 'store_older') return 'plinth.db is older than the log; its later changes are lost';
  if (kind === 'tail_unacknowledged')
    return 'incomplete log record of an unacknowledged write removed';
  if (kind === 'tail_cut')
    return 'last log record is incomplete or corrupt, and was removed; if it was acknowledged, its rows are lost';
  if (kind === 'tail_cleared') return 'stray bytes after the last log record removed';
  return lostRecordCount === 0
    ? 'corrupt log file quarantined; no records were lost'
    : 'log records were lost';
}

function messageOfStoreLoss({ kind, lostRecordCount }: LogLoss): string {
  if (lostRecordCount === 0) return 'corrupt plinth.db quarantined and rebuilt; no rows were lost';
  if (kind === 'tail_cut')
    return 'last transaction in plinth.db-wal is incomplete or corrupt, and was ignored; if it was acknowledged, its changes are lost';
  return 'relational store transactions were lost';
}

/** Opens the node's stores. */
export async function openStores(deps: {
  readonly folder: DataFolder;
  readonly settings: ServerSettings;
  /** Quarantines a corrupt journal of the relational store. */
  readonly repair: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** On the disk of the folder. */
  readonly diskSpace: FreeDiskSpace;
  /** Returns a thread of the relational store that was started earlier. */
  readonly takeThread?: (() => Worker | undefined) | undefined;
}): Promise<Stores> {
  const { settings, clock, random, log, diskSpace } = deps;
  const { files, path: dataDir } = deps.folder;
  if (!deps.repair) await deps.folder.requireStore();
  const given = await readGivenMasterKey(settings);
  const path = join(dataDir, STORE_FILE);
  const local = await openRelationalStore({
    ...{ path, clock, fileSystem: files, repair: deps.repair },
    thread: deps.takeThread?.(),
    onLoss: (loss) =>
      log.warn(
        { ...loss, ...(loss.lostRecordCount === 0 ? {} : { remedy: LOST_CHANGES_HINT }) },
        messageOfStoreLoss(loss),
      ),
  });
  let shared: SharedStore | undefined;
  let objects: FolderObjectStore;
  let masterKey: Uint8Array;
  let folderId: string;
  try {
    if (settings.database_url !== undefined) {
      shared = await openPostgresStore({
        url: settings.database_url,
        clock,
        random,
        // The driver attaches its entire client to the error.
        onConnectionLost: ({ message }) =>
          log.warn({ why: message }, 'connection to PostgreSQL lost'),
      });
    }
    objects = await LocalObjectStore.open({
      ...{ fileSystem: files, root: join(dataDir, 'objects'), random },
    });
    folderId = shared ? await readFolderId(dataDir, files, random) : '';
    masterKey = given ?? (await readOwnMasterKey(dataDir, files, random));
  } catch (error) {
    await shared?.close();
    await local.close();
    throw error;
  }
  const relational: RelationalStore = shared ?? local;
  const leases = new LocalLeases();
  const secrets = new SecretBox(masterKey, random, originOfMasterKey(settings, dataDir));
  return {
    files,
    dataDir,
    relational,
    local,
    shared,
    folderId,
    objects,
    leases,
    secrets,
    diskSpace,
    openLog: ({ folder, nodeUuid, ...how }) =>
      openCommitLog({
        fileSystem: files,
        directory: folder,
        nodeId: nodeUuid,
        random,
        ...{ ...how, diskSpace, clock },
        onLoss: (loss) => log.warn({ ...loss }, messageOfLoss(loss)),
      }),
    async probe() {
      await files.list(dataDir);
      if (shared !== undefined) {
        await shared.probe();
        return shared.obstacle;
      }
      await local
        .reader<Record<never, never>>()
        .selectNoFrom(({ val }) => val(1).as('one'))
        .execute();
      return undefined;
    },
    async close() {
      await leases.close();
      await relational.close();
      await local.close();
    },
  };
}
