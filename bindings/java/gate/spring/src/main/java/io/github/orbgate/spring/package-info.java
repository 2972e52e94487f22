/** A gate before the services of Spring MVC, set up by Spring Boot. */
package io.github.orbgate.spring;
