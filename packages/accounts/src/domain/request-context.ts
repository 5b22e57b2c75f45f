import type { PlatformSettings } from '../model/platform/platform-settings.js';
import type { Tenant } from '../model/platform/tenant.js';

/** Properties of a request known before its content is read. */
export interface RequestContext {
  readonly tenant: Tenant;
  readonly settings: PlatformSettings;
  /** `YYYY-MM-DD` of the effective version. */
  readonly versionDate: string;
  readonly requestId: string;
  /** As sent, or generated for the client. */
  readonly idempotencyKey: string;
  readonly method: string;
  readonly path: string;
  readonly keyKind: 'secret' | 'publishable';
  readonly ip: string;
  readonly userAgent: string | undefined;
}
