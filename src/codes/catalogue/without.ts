/**
 * Codes below a mapped code that have no PheCode themselves: those the catalogue marks to be
 * ignored, as unspecific, and underdosing (the drug was not taken).
 */
export const withoutPheCode = `
none Without PheCode
	| 291.0 292.81 360.5-360.6 525.6-525.7 564.0 656.3 659.0-659.1 659.4-659.6 729.5 780.94 783.21
	787.3 787.91 791.9 799.02 91?.2 91?.4 996.31 997.49 998.2-998.3 999.32-999.33
	| T36-T50.??6 T36-T50.?6X
`;
