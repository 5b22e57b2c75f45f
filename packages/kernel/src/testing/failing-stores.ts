import type { ObjectStore } from '../objects/object-store.js';
import type { RelationalStore } from '../relational/relational-store.js';
import type { CallFaults } from './call-faults.js';

/** The kinds by which `CallFaults` knows the calls of the stores below. */
export const OBJECT_CALLS = [
  'object.put',
  'object.adopt',
  'object.get',
  'object.list',
  'object.delete',
] as const;
/** A transaction that fails with its effect `done` was committed. */
export const CATALOG_CALLS = ['catalog.transaction', 'catalog.read'] as const;

/** A real store of objects whose calls fail when `faults` says so. */
export function failingObjectStore(store: ObjectStore, faults: CallFaults): ObjectStore {
  return {
    put: (name, parts) => faults.around('object.put', () => store.put(name, parts)),
    adopt: (name, path) => faults.around('object.adopt', () => store.adopt(name, path)),
    get: (name, range) => faults.around('object.get', () => store.get(name, range)),
    list: (prefix) => faults.around('object.list', () => store.list(prefix)),
    delete: (name) => faults.around('object.delete', () => store.delete(name)),
    localPath: (name) => store.localPath(name),
  };
}

/** A real relational store whose transactions and reads fail when `faults` says so. */
export function failingRelationalStore(
  store: RelationalStore,
  faults: CallFaults,
): RelationalStore {
  return {
    engine: store.engine,
    transaction: (work, options) =>
      faults.around('catalog.transaction', () => store.transaction(work, options)),
    reader() {
      faults.before('catalog.read');
      return store.reader();
    },
    migrate: (service, migrations) => store.migrate(service, migrations),
    close: () => store.close(),
  };
}
