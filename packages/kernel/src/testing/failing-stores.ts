import type { FileHandle, FileSystem } from '../fs/file-system.js';
import type { BucketStore, FolderObjectStore } from '../objects/object-store.js';
import type { RelationalStore } from '../relational/relational-store.js';
import type { CallFaults } from './call-faults.js';

/** The kinds of object store calls in `CallFaults`. */
export const OBJECT_CALLS = [
  'object.put',
  'object.adopt',
  'object.get',
  'object.list',
  'object.delete',
] as const;
/** A transaction that fails with the effect `done` was committed. */
export const RELATIONAL_CALLS = ['relational.transaction', 'relational.read'] as const;

/** A real object store whose calls fail according to `faults`. */
export function failingObjectStore(
  store: FolderObjectStore,
  faults: CallFaults,
): FolderObjectStore {
  return {
    put: (name, parts) => faults.around('object.put', () => store.put(name, parts)),
    adopt: (name, path) => faults.around('object.adopt', () => store.adopt(name, path)),
    get: (name, range) => faults.around('object.get', () => store.get(name, range)),
    getRanges: (name, ranges) => faults.around('object.get', () => store.getRanges(name, ranges)),
    list: (prefix) => faults.around('object.list', () => store.list(prefix)),
    delete: (name) => faults.around('object.delete', () => store.delete(name)),
    localPath: (name) => store.localPath(name),
  };
}

/** A bucket whose calls fail according to `faults`. */
export function failingBucket(bucket: BucketStore, faults: CallFaults): BucketStore {
  return {
    root: bucket.root,
    readerProperties: bucket.readerProperties,
    put: (name, parts) => faults.around('bucket.put', () => bucket.put(name, parts)),
    upload: (name, content) => faults.around('bucket.upload', () => bucket.upload(name, content)),
    get: (name, range) => faults.around('bucket.get', () => bucket.get(name, range)),
    getRanges: (name, ranges) => faults.around('bucket.get', () => bucket.getRanges(name, ranges)),
    list: (prefix) => faults.around('bucket.list', () => bucket.list(prefix)),
    delete: (name) => faults.around('bucket.delete', () => bucket.delete(name)),
    close: () => bucket.close(),
  };
}

/** A real relational store whose transactions and reads fail according to `faults`. */
export function failingRelationalStore(
  store: RelationalStore,
  faults: CallFaults,
): RelationalStore {
  return {
    system: store.system,
    transaction: (work, options) =>
      faults.around('relational.transaction', () => store.transaction(work, options)),
    onCommit: (tx, listener) => store.onCommit(tx, listener),
    reader() {
      faults.before('relational.read');
      return store.reader();
    },
    migrate: (service, migrations) => store.migrate(service, migrations),
    close: () => store.close(),
  };
}

/** Calls that change or read files of the commit log. */
export const LOG_CALLS = [
  'log.open',
  'log.read',
  'log.write',
  'log.sync',
  'log.truncate',
  'log.link',
  'log.remove',
  'log.list',
  'log.syncDirectory',
] as const;

/** A real file system for a commit log, whose calls fail according to `faults`. Closing a handle always succeeds. */
export function failingLogFiles(files: FileSystem, faults: CallFaults): FileSystem {
  return {
    open: async (...params) =>
      failingHandle(await faults.around('log.open', () => files.open(...params)), faults),
    rename: (from, to) => files.rename(from, to),
    link: (existing, name) => faults.around('log.link', () => files.link(existing, name)),
    remove: (path) => faults.around('log.remove', () => files.remove(path)),
    removeTree: (path) => files.removeTree(path),
    makeDirectory: (path) => files.makeDirectory(path),
    list: (path) => faults.around('log.list', () => files.list(path)),
    stat: (path) => files.stat(path),
    syncDirectory: (path) => faults.around('log.syncDirectory', () => files.syncDirectory(path)),
  };
}

function failingHandle(handle: FileHandle, faults: CallFaults): FileHandle {
  return {
    read: (target, position) => faults.around('log.read', () => handle.read(target, position)),
    readNow(target, position) {
      faults.before('log.read');
      return handle.readNow(target, position);
    },
    write: (parts, position) => faults.around('log.write', () => handle.write(parts, position)),
    sync: () => faults.around('log.sync', () => handle.sync()),
    truncate: (sizeBytes) => faults.around('log.truncate', () => handle.truncate(sizeBytes)),
    sizeBytes: () => handle.sizeBytes(),
    close: () => handle.close(),
  };
}
