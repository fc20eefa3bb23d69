export function overviewPath(appId: string): string {
  return `/api/v1/apps/${encodeURIComponent(appId)}/overview`;
}
