/** The name of one of the two users. */
export type PaneName = 'A' | 'B';

/** The token of each signed-in user. */
export type Tokens = Readonly<Record<PaneName, string | undefined>>;
