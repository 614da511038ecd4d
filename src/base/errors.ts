/** What a user can put right: bad usage, bad input, a file that is not what it claims. The command line exits 2. */
export class InputError extends Error {
	override readonly name = "InputError";
}
