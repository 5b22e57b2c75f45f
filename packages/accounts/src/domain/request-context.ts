import type { PlatformSettings } from '../model/platform/platform-settings.js';
import type { Tenant } from '../model/platform/tenant.js';

/** What the edge knows of a request before anybody looks at its content. */
export interface RequestContext {
  readonly tenant: Tenant;
  readonly settings: PlatformSettings;
  /** `YYYY-MM-DD` of the effective version. */
  readonly versionDate: string;
  readonly requestId: string;
  /** As sent, or made for the caller. */
  readonly idempotencyKey: string;
  readonly method: string;
  readonly path: string;
  readonly keyKind: 'secret' | 'publishable';
  readonly ip: string;
  readonly userAgent: string | undefined;
}
