const key = "trajgpt-file";

/** Where the name of the file is kept until the tab is closed; never anything of its content. */
type Store = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** Some browsers refuse storage; then a reload is not noticed. */
const attempt = <T>(work: () => T): T | null => {
	try {
		return work();
	} catch {
		return null;
	}
};

/** The name of the file that was open when the page was reloaded. */
export const lostFile = (store: () => Store = () => sessionStorage): string | null =>
	attempt(() => store().getItem(key));

/** Notes the name of the open file, or that there is none. */
export const noteFile = (name: string | null, store: () => Store = () => sessionStorage): void => {
	attempt(() => (name === null ? store().removeItem(key) : store().setItem(key, name)));
};
