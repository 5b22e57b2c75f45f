/** One platform in one mode: nothing of another tenant exists for a request. */
export interface Tenant {
  readonly platform: string;
  readonly livemode: boolean;
}

/** As it stands in tables. */
export function tenantKey({ platform, livemode }: Tenant): string {
  return `${platform}:${livemode ? 'live' : 'test'}`;
}
