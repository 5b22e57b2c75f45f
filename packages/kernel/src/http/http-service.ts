import type { LiveSource } from '../live/live-source.js';
import type { RouteTable } from './route.js';

/** One service on the shared port. */
export interface HttpService {
  readonly name: string;
  /** All that it answers; asked once, after `start`. */
  tables(): readonly RouteTable[] | Promise<readonly RouteTable[]>;
  /** What it tells live pages of; asked once, after `start`. */
  liveSources?(): readonly LiveSource[] | Promise<readonly LiveSource[]>;
  /**
   * Makes its tables beside those of the other services, so that they can share a commit. `start` may be running, does the same
   * and tells why it failed.
   */
  prepare?(): Promise<void>;
  start(): Promise<void>;
  /** Called once when all services have started and the port answers: for work that needs them, or makes the first requests faster. Must not throw. */
  warmUp?(): void;
  /** Holds still what it keeps beside the relational store; only for services that change it while they run. */
  freeze?(moment: BackupMoment): Promise<FrozenFiles>;
  /** Twice is harmless. */
  close(): Promise<void>;
}

/** The moment whose state a backup holds. */
export interface BackupMoment {
  /**
   * Copies the relational store as it is in the turn of the call. To be called once, when nothing that the store names can go
   * any more, and in the same turn in which the service draws its own line.
   */
  copyStore(): Promise<void>;
  /** Empty and the backup's own, on the same volume as the data folder: for copies of what goes on changing. */
  readonly folder: string;
}

/** What a service keeps beside the relational store, as of one moment. */
export interface FrozenFiles {
  /** `undefined`: the files that lie in its folders. */
  readonly files?: readonly FrozenFile[];
  /** What a backup does not hold, one sentence each, for whoever restores it. */
  readonly leftOut?: readonly string[];
  /** The files may change and go from here on. Twice is harmless. */
  release(): void;
}

export interface FrozenFile {
  /** Where a data folder has it, `/`-separated. */
  readonly name: string;
  /** Where it can be read until `release`. */
  readonly path: string;
  /** Size in bytes and CRC32C, where they are known without reading the file. */
  readonly known?: { readonly sizeBytes: number; readonly checksum: number };
}
