import type { EventLoopYielder, ObjectStore } from '@plinth/kernel';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import type { AvroBlocks } from '../iceberg/avro-file.js';
import { MetadataNames, tableMetadata } from '../iceberg/table-metadata.js';
import { FORMAT_VERSION, TREES, type Tree } from '../iceberg/table-schema.js';
import { isListed, type ManifestRecord, type PublishedHistory } from './history.js';
import type { NewManifest, NextVersion } from './next-version.js';

const CONCURRENT_MANIFESTS = 4;

/** Loaded when something is published, because Avro takes time and memory. */
const loadWriter = () => import('../iceberg/manifest.js');

/** Writes and removes the metadata objects of published tables. */
export class MetadataTrees {
  readonly #objects: ObjectStore;
  readonly #yielder: EventLoopYielder;
  /** Prefix of the object names in metadata. */
  readonly root: string;

  constructor(options: {
    readonly objects: ObjectStore;
    readonly yielder: EventLoopYielder;
    readonly root: string;
  }) {
    this.#objects = options.objects;
    this.#yielder = options.yielder;
    this.root = options.root;
  }

  /** Writes the new manifests, a few at a time, because most of the time is spent on syncs. */
  async writeManifests(uuid: string, next: NextVersion): Promise<readonly ManifestRecord[]> {
    const written: ManifestRecord[] = [];
    for (let from = 0; from < next.newManifests.length; from += CONCURRENT_MANIFESTS) {
      const batch = next.newManifests.slice(from, from + CONCURRENT_MANIFESTS);
      written.push(
        ...(await allEnded(batch.map((manifest) => this.#writeManifest(uuid, next, manifest)))),
      );
    }
    return written;
  }

  async #writeManifest(
    uuid: string,
    next: NextVersion,
    manifest: NewManifest,
  ): Promise<ManifestRecord> {
    const { encodeRecords, MANIFEST, manifestEntry } = await loadWriter();
    const entries = await encodeRecords(MANIFEST, manifest.files, {
      toRecord: (file) => manifestEntry(this.#dataFile(file), next.version),
      yielder: this.#yielder,
    });
    const [plain, jvm] = await allEnded(
      TREES.map((tree) => this.#putManifest(uuid, { tree, next, manifest, entries })),
    );
    return {
      id: manifest.id,
      month: manifest.month,
      filesDigest: manifest.filesDigest,
      fileCount: manifest.files.length,
      rowCount: manifest.rowCount,
      firstRowId: manifest.firstRowId,
      filesBytes: manifest.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      sizeBytes: { plain: plain as number, jvm: jvm as number }, // one for each of `TREES`
      added: next.version,
    };
  }

  /** Writes the manifest lists of the newest snapshot. */
  async writeLists(uuid: string, history: PublishedHistory): Promise<void> {
    const snapshot = history.snapshots.at(-1);
    if (snapshot === undefined) return;
    const { encodeRecords, listEntry, MANIFEST_LIST, manifestListFile } = await loadWriter();
    const parent = history.snapshots.at(-2)?.version;
    const { version } = snapshot;
    await allEnded(
      TREES.map(async (tree) => {
        const formatVersion = FORMAT_VERSION[tree];
        const names = new MetadataNames(uuid, tree);
        const listed = history.manifests.filter((manifest) => isListed(manifest, version));
        const entries = await encodeRecords(MANIFEST_LIST[formatVersion], listed, {
          toRecord: (manifest) =>
            listEntry({
              ...manifest,
              path: `${this.root}/${names.manifest(manifest.id)}`,
              sizeBytes: manifest.sizeBytes[tree],
            }),
          yielder: this.#yielder,
        });
        const file = manifestListFile(
          { version, formatVersion, ...(parent !== undefined && { parent }) },
          entries,
        );
        await this.#objects.put(names.manifestList(version), file);
      }),
    );
  }

  /** Writes the metadata file. From then on, readers that list the folder find the version. */
  async writeMetadata(
    uuid: string,
    { version, columns }: NextVersion,
    history: PublishedHistory,
  ): Promise<void> {
    const nowMs = history.metadata.at(-1)?.timestampMs ?? 0;
    await allEnded(
      TREES.map((tree) => {
        const table = { uuid, tree, columns: columns[tree], root: this.root, nowMs };
        const json = JSON.stringify(tableMetadata(history, table));
        return this.#objects.put(new MetadataNames(uuid, tree).metadata(version), [
          Buffer.from(json),
        ]);
      }),
    );
  }

  /** Returns the newest metadata file and its location. */
  async read(
    uuid: string,
    tree: Tree,
    version: number,
  ): Promise<{ readonly location: string; readonly metadata: string }> {
    const name = new MetadataNames(uuid, tree).metadata(version);
    const metadata = Buffer.from(await this.#objects.get(name)).toString();
    return { location: `${this.root}/${name}`, metadata };
  }

  locationOf(uuid: string, tree: Tree): string {
    return `${this.root}/${new MetadataNames(uuid, tree).folder}`;
  }

  /** Returns the names of all metadata objects of a table. */
  async list(uuid: string): Promise<readonly string[]> {
    const lists = TREES.map((tree) =>
      this.#objects.list(`${new MetadataNames(uuid, tree).folder}/`),
    );
    return (await Promise.all(lists)).flat().map(({ name }) => name);
  }

  /** Returns the names of the metadata objects of all tables, by table id. */
  async listAll(): Promise<ReadonlyMap<string, readonly string[]>> {
    const found = new Map<string, string[]>();
    for (const { name } of await this.#objects.list('open-tables/')) {
      const uuid = (name.split('/')[1] as string).replace(/-jvm$/, ''); // below the prefix
      const names = found.get(uuid) ?? [];
      names.push(name);
      found.set(uuid, names);
    }
    return found;
  }

  /** Removes metadata files first: without them, no reader finds the others. */
  async remove(names: Iterable<string>): Promise<void> {
    const isMetadata = (name: string): boolean => name.endsWith('.metadata.json');
    const sorted = [...names].sort((a, b) => Number(isMetadata(b)) - Number(isMetadata(a)));
    for (const name of sorted) await this.#objects.delete(name);
  }

  async #putManifest(
    uuid: string,
    options: {
      readonly tree: Tree;
      readonly next: NextVersion;
      readonly manifest: NewManifest;
      readonly entries: AvroBlocks;
    },
  ): Promise<number> {
    const { manifestFile } = await loadWriter();
    const { tree, next } = options;
    const schemaId = next.base.schemas.at(-1)?.id ?? 0;
    const fields = next.columns[tree].fields;
    const file = manifestFile(
      {
        formatVersion: FORMAT_VERSION[tree],
        schema: { type: 'struct', 'schema-id': schemaId, fields },
        schemaId,
      },
      options.entries,
    );
    await this.#objects.put(new MetadataNames(uuid, tree).manifest(options.manifest.id), file);
    return file.reduce((sum, part) => sum + part.byteLength, 0);
  }

  #dataFile(file: Segment) {
    return {
      path: `${this.root}/${file.objectName}`,
      rowCount: file.rowCount,
      sizeBytes: file.sizeBytes,
      minTimeNs: file.minTime,
      maxTimeNs: file.maxTime,
    };
  }
}

/**
 * Like `Promise.all`, but a failure is reported when all have ended: no object appears after the cleanup that follows a
 * failure.
 */
async function allEnded<T>(running: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(running);
  return await Promise.all(running);
}

/** Returns the names of all objects that the snapshots of a history need. */
export function objectsOf(uuid: string, history: PublishedHistory | undefined): Set<string> {
  const found = new Set<string>();
  if (history === undefined) return found;
  for (const tree of TREES) {
    const names = new MetadataNames(uuid, tree);
    for (const { version } of history.metadata) found.add(names.metadata(version));
    for (const { version } of history.snapshots) found.add(names.manifestList(version));
    for (const { id } of history.manifests) found.add(names.manifest(id));
  }
  return found;
}
