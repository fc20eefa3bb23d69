/** How long a deleted plugin's name and semantic versions stay reserved for its publisher, in milliseconds. */
export const nameReservationMs = 90 * 24 * 60 * 60 * 1000;
