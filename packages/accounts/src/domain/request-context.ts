import type { PlatformSettings } from '../model/platform/platform-settings.js';
import type { Tenant } from '../model/platform/tenant.js';

/** Properties of a request other than its content. */
export interface RequestContext {
  readonly tenant: Tenant;
  readonly settings: PlatformSettings;
  /** Date of the effective version, as `YYYY-MM-DD`. */
  readonly versionDate: string;
  readonly requestId: string;
  /** For changes, the client's idempotency key or a generated one; otherwise empty. */
  readonly idempotencyKey: string;
  readonly method: string;
  readonly path: string;
  readonly keyKind: 'secret' | 'publishable';
  readonly ip: string;
  readonly userAgent: string | undefined;
  /** Whether an operator acts as the platform. */
  readonly isOperator?: boolean;
  /** Entity tag of the version that an operator changes; the public API has none. */
  readonly ifMatch?: string | undefined;
}
