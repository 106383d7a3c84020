/** The two users who sit side by side. */
export type PaneName = 'A' | 'B';

/** The token of each, where somebody is signed in. */
export type Tokens = Readonly<Record<PaneName, string | undefined>>;
