import { Histogram } from '@plinth/kernel';

const BOUNDS_SEC = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts of published versions and uploads since startup. */
export class PublishCounts {
  readonly durationSec = new Histogram(BOUNDS_SEC);
  versionCount = 0;
  failureCount = 0;
  uploadCount = 0;
  uploadBytes = 0;

  published(durationMs: number): void {
    this.versionCount++;
    this.durationSec.observe(durationMs / 1000);
  }

  uploaded(sizeBytes: number): void {
    this.uploadCount++;
    this.uploadBytes += sizeBytes;
  }

  failed(): void {
    this.failureCount++;
  }
}
