/** A gate for the servlets of a Jakarta Servlet container. */
package io.github.orbgate.servlet;
