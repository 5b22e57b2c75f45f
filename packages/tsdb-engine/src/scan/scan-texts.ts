import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { ScanRequest } from '@plinth/tsdb-model/scan.js';
import { type GenerationSnapshot, generationSources } from '../table/generations.js';
import type { TableComponents } from '../table/table-components.js';
import type { OpenSegment } from '../table/table-segments.js';
import { type Tombstone, tombstonesOfSegment } from '../table/tombstones.js';
import { type DeletedSeries, deletionSql } from './deletion-sql.js';
import type { Pinned } from './pinned.js';
import type { ScanGroups } from './prepared-scan.js';
import type { RepeatedKeys } from './repeated-keys.js';
import { groupsText, type ScanTextOptions, seriesBetween } from './scan-text.js';
import { segmentSources } from './segment-sources.js';
import type { SelectedSeries } from './select-series.js';
import type { Source } from './sources.js';
import type { ScanSlice, TimeSlice } from './time-slices.js';

/** The data that a scan reads. */
export interface TableSnapshot {
  readonly generations: readonly GenerationSnapshot[];
  readonly segments: readonly OpenSegment[];
  readonly repeatedKeys: RepeatedKeys;
  readonly tombstones: readonly Tombstone[];
  readonly pins: readonly Pinned[];
}

/** The rows of a snapshot that a scan selects. */
export interface Selection {
  readonly bounds: TimeSlice;
  readonly selected: SelectedSeries;
  readonly deleted: DeletedSeries;
}

/** Creates the SQL text of a scan, for all its rows and for slices. */
export class ScanTexts {
  readonly #components: TableComponents;
  readonly #request: ScanRequest;
  readonly #selection: Selection;
  readonly #snapshot: TableSnapshot;
  /** Columns of the series table in DuckDB by tag, for the requested columns. */
  readonly #tagNames: ReadonlyMap<string, string | undefined>;
  readonly #seriesTable: ScanTextOptions['seriesTable'];
  /** All columns of the table. */
  readonly #stored: readonly Column[];
  readonly #buffers: readonly Source[];

  constructor(
    components: TableComponents,
    request: ScanRequest,
    selection: Selection,
    snapshot: TableSnapshot,
  ) {
    this.#components = components;
    this.#request = request;
    this.#selection = selection;
    this.#snapshot = snapshot;
    const { table } = components.series;
    const columns = request.columns.flatMap((name) => request.table.columns.get(name) ?? []);
    const tagNames = new Map(columns.map(({ name }) => [name, table.columnOf(name)]));
    this.#tagNames = tagNames;
    this.#seriesTable = { name: table.name, columnOf: (tag) => tagNames.get(tag) };
    this.#stored = [...components.schema().columns.values()];
    this.#buffers = generationSources(snapshot.generations).map((source) => {
      const present = new Set(columns.flatMap(({ id }) => (source.hasColumn(id) ? [id] : [])));
      const { tombstones } = snapshot;
      return {
        ...withoutDeleted(source, { tombstones, deleted: selection.deleted, stored: this.#stored }),
        hasColumn: (id: number) => present.has(id),
      };
    });
  }

  optionsOf(
    slice: ScanSlice,
    options: { readonly isSlice: boolean; readonly lateMaterializedTags?: readonly string[] },
  ): ScanTextOptions {
    const { isSlice, lateMaterializedTags = [] } = options;
    const request = this.#request;
    const { repeatedKeys } = this.#snapshot;
    return {
      schema: request.table,
      columns: request.columns,
      sources: this.#sourcesIn(slice),
      minTime: slice.minTime,
      maxTime: slice.maxTime,
      isSlice,
      onlySeries: this.#selection.selected.onlySeries,
      seriesCondition: this.#seriesCondition(slice),
      seriesTable: this.#seriesTable,
      lateMaterializedTags,
      repeatedKeys: repeatedKeys.touches(slice.minTime, slice.maxTime)
        ? repeatedKeys.name
        : undefined,
      lastRowsOnly: request.lastRowsOnly,
      withSeries: request.withSeries === true,
    };
  }

  /** Returns the tags that divide the rows into groups; `undefined` if there is only one group. */
  groupsBy(all: readonly string[]): ScanGroups | undefined {
    const { bounds, selected } = this.#selection;
    const tags = all.filter((tag) => this.#tagNames.get(tag) !== undefined);
    const isOne = tags.length === 0 || selected.onlySeries !== undefined || selected.share === 0;
    if (isOne) return undefined;
    return {
      tags,
      text: groupsText(this.optionsOf(bounds, { isSlice: true }), this.#columnsOf(tags)),
    };
  }

  #sourcesIn(slice: ScanSlice): Source[] {
    const { deleted } = this.#selection;
    const { segments, tombstones } = this.#snapshot;
    const touches = (source: TimeSlice): boolean =>
      source.minTime <= slice.maxTime && source.maxTime >= slice.minTime;
    const files = segments.map((open) => open.segment).filter(touches);
    return [
      ...segmentSources(this.#components.files, files, (segment) =>
        deletionSql(tombstonesOfSegment(tombstones, segment), deleted, {
          hasSeqColumn: false,
          fields: () => this.#stored.filter(({ id }) => segment.columnIds.has(id)),
        }),
      ),
      ...this.#buffers.filter(touches),
    ];
  }

  #seriesCondition({ series: range }: ScanSlice): string | undefined {
    const conditions = [
      this.#selection.selected.seriesCondition,
      range &&
        seriesBetween(this.#seriesTable.name, { ...range, columns: this.#columnsOf(range.tags) }),
    ].filter((condition) => condition !== undefined);
    return conditions.length === 0 ? undefined : conditions.join(' AND ');
  }

  #columnsOf(tags: readonly string[]): string[] {
    return tags.flatMap((tag) => this.#tagNames.get(tag) ?? []);
  }
}

/** Returns the unflushed rows, without the deleted rows and values. */
function withoutDeleted(
  source: Source,
  {
    tombstones,
    deleted,
    stored,
  }: {
    readonly tombstones: readonly Tombstone[];
    readonly deleted: DeletedSeries;
    readonly stored: readonly Column[];
  },
): Source {
  const { remainingRows, deletedValues } = deletionSql(tombstones, deleted, {
    hasSeqColumn: true,
    fields: () => stored.filter(({ id }) => source.hasColumn(id)),
  });
  if (remainingRows === undefined) return source;
  const { where } = source;
  return {
    ...source,
    where: where === undefined ? remainingRows : `${where} AND ${remainingRows}`,
    deletedValues,
  };
}
