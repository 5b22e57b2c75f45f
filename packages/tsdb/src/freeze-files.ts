import { join } from 'node:path';
import type { BackupMoment, FrozenFile, FrozenFiles } from '@plinth/kernel';
import type { TsdbEngine } from '@plinth/tsdb-engine/tsdb-engine.js';
import type { SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import { LOG_FOLDER } from '@plinth/tsdb-storage/wal/log-folder.js';
import type { Processing } from './open/open-processing.js';

/** Folder of plugin files in a restored data folder, regardless of the original plugin folder. */
const PLUGINS = 'plugins';
/** Maximum number of skipped files that are named; further ones are only counted. */
const MAX_NAMED = 10;

/**
 * Creates a consistent snapshot of the data that the service stores outside the relational store: segments, log and
 * plugin files.
 */
export async function freezeFiles(
  moment: BackupMoment,
  parts: {
    readonly engine: TsdbEngine;
    readonly files: SegmentFiles;
    readonly processing: Pick<Processing, 'copyPlugins'>;
  },
): Promise<FrozenFiles> {
  const { objects, logFiles, release } = await parts.engine.freeze(moment);
  try {
    const plugins = await parts.processing.copyPlugins(join(moment.folder, PLUGINS));
    return {
      files: [
        ...objects.map(
          ({ objectName, sizeBytes, checksum }): FrozenFile => ({
            name: `objects/${objectName}`,
            path: parts.files.pathOf(objectName),
            known: { sizeBytes, checksum },
          }),
        ),
        ...logFiles.map((name) => ({
          name: `${LOG_FOLDER}/${name}`,
          path: join(moment.folder, name),
        })),
        ...(plugins?.names ?? []).map((name) => ({
          name: `${PLUGINS}/${name}`,
          path: join(moment.folder, PLUGINS, name),
        })),
      ],
      leftOut: plugins === undefined ? [] : leftOutOf(plugins),
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}

function leftOutOf({ names, skipped }: { names: readonly string[]; skipped: readonly string[] }) {
  const some = skipped.slice(0, MAX_NAMED).join(', ');
  const more = skipped.length > MAX_NAMED ? ` and ${skipped.length - MAX_NAMED} more` : '';
  return [
    ...(names.length === 0
      ? []
      : [
          'Python packages that plugins import: install them again in the environment of the restored server',
        ]),
    ...(skipped.length === 0
      ? []
      : [
          `entries of the plugin folder that are not regular files or have names that are not portable: ${some}${more}`,
        ]),
  ];
}
