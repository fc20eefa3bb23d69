/** How many guests the console names of those that the user holds in an application. */
const namedGuests = 300;

/** The path of an application in the API, with the query that the console sends. */
export function appApiPath(appId: string): string {
  return `/api/v1/apps/${encodeURIComponent(appId)}?maxGuests=${namedGuests}`;
}
