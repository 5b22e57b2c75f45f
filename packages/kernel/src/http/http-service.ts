import type { LiveSource } from '../live/live-source.js';
import type { RouteGroup } from './route.js';

/** One service on the shared port. */
export interface HttpService {
  readonly name: string;
  /** Returns all routes of the service; called once, after `start`. */
  routeGroups(): readonly RouteGroup[] | Promise<readonly RouteGroup[]>;
  /** Returns the live topics of the service; called once, after `start`. */
  liveSources?(): readonly LiveSource[] | Promise<readonly LiveSource[]>;
  /**
   * Creates the tables together with the tables of other services, so that they share a commit. `start` may run
   * concurrently. `start` does the same and reports failures.
   */
  prepare?(): Promise<void>;
  start(): Promise<void>;
  /** Called once when all services have started and the port is open, for work that requires them. Must not throw. */
  warmUp?(): void;
  /** Freezes the files that the service stores outside the relational store. Only for services that change them at run time. */
  freeze?(moment: BackupMoment): Promise<FrozenFiles>;
  /** Ends endless responses when the server shuts down, before running requests end. */
  beginDraining?(): void;
  /** Safe to call twice. */
  close(): Promise<void>;
}

/** The point in time of a backup. */
export interface BackupMoment {
  /**
   * Copies the relational store as of the event-loop tick of the call. Must be called once, when no object that the
   * store refers to can be deleted, in the same tick in which the service freezes its own state.
   */
  copyStore(): Promise<void>;
  /** An empty folder of the backup, on the volume of the data folder, for copies of files that keep changing. */
  readonly folder: string;
}

/** The files of a service outside the relational store, as of one moment. */
export interface FrozenFiles {
  /** `undefined` for all files in its folders. */
  readonly files?: readonly FrozenFile[];
  /** Notes on data that the backup does not contain, one sentence each, for the person who restores it. */
  readonly leftOut?: readonly string[];
  /** Releases the files, which may then change and be deleted. Safe to call twice. */
  release(): void;
}

export interface FrozenFile {
  /** The path in a data folder, separated by `/`. */
  readonly name: string;
  /** The path from which it can be read until `release`. */
  readonly path: string;
  /** Size in bytes and CRC32C, if they are known without reading the file. */
  readonly known?: { readonly sizeBytes: number; readonly checksum: number };
}
