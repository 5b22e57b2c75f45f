/** One platform in one mode. Requests see only the objects of their tenant. */
export interface Tenant {
  readonly platform: string;
  readonly livemode: boolean;
}

/** Returns the tenant as stored in tables. */
export function tenantKey({ platform, livemode }: Tenant): string {
  return `${platform}:${livemode ? 'live' : 'test'}`;
}
