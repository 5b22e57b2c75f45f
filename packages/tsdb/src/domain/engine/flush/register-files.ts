import type { SegmentFiles } from '../../../storage/segments/segment-files.js';
import type {
  RegistryChange,
  SegmentRegistry,
} from '../../../storage/segments/segment-registry.js';

/**
 * As `SegmentRegistry.apply`; when that fails, the new files go: whoever tries again writes others, and on a full disk
 * they would pile up until the next start. What the registry knows all the same stays, and all while it cannot be asked:
 * a commit that failed on the disk may show at the next start, which removes the files that nobody knows.
 */
export async function registerFiles(
  registry: SegmentRegistry,
  files: SegmentFiles,
  change: RegistryChange,
): Promise<void> {
  try {
    await registry.apply(change);
  } catch (error) {
    if (await isUnknown(registry, change)) {
      for (const { objectName } of [...change.addSegments, ...change.addSeriesFiles]) {
        await files.remove(objectName).catch(() => undefined); // The first failure says more.
      }
    }
    throw error;
  }
}

async function isUnknown(registry: SegmentRegistry, change: RegistryChange): Promise<boolean> {
  try {
    return !(await registry.hasTakenEffect(change));
  } catch {
    return false;
  }
}
